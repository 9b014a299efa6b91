// A user's way through the application in a browser, from signing up to leaving. Needs a running application.
import { type Browser, chromium, type Page } from "playwright";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const url = process.env["CONDUIT_URL"];
const run = Date.now().toString(36);
const name = `eve-${run}`;
const title = `What a seam holds ${run}`;
// The smallest PNG: one dot.
const dot =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

// `npm run example:test` of Seamline's repository starts one, and finds the browser.
describe.skipIf(url === undefined)("the page", () => {
  let browser: Browser;
  let page: Page;
  const faults: string[] = [];

  beforeAll(async () => {
    const executablePath = process.env["CHROMIUM_PATH"];
    browser = await chromium.launch({
      ...(executablePath === undefined ? {} : { executablePath }),
      args: ["--no-sandbox", "--disable-gpu"],
    });
    page = await browser.newPage({ baseURL: url!, viewport: { width: 1280, height: 800 } });
    page.setDefaultTimeout(20_000);
    page.on("pageerror", (error) => faults.push(error.message));
    await page.goto("/");
  });
  afterAll(() => browser?.close());

  const click = (text: string) => page.getByRole("link", { name: text, exact: true }).click();
  const press = (text: string) => page.getByRole("button", { name: text }).click();
  const fill = (label: string, text: string) => page.getByLabel(label, { exact: true }).fill(text);
  const at = (path: string) => page.waitForURL(url + path);
  const see = (text: string) => page.getByText(text, { exact: true }).first().waitFor();

  it("shows articles by page and by tag, and its addresses can be reloaded", async () => {
    await page.getByLabel("Pages").getByRole("link", { name: "2", exact: true }).click();
    await at("/?page=2");
    await page.locator(".preview").first().waitFor();
    await page.getByLabel("Popular tags").getByRole("link", { name: "boats" }).click();
    await at("/?tag=boats");
    await see("#boats");
    await page.reload();
    await page.getByText("Dough has").waitFor({ state: "detached" });
    await see("Planks remember the tree");
    await page.goBack();
    await at("/?page=2");
    await page.getByText("#boats").waitFor({ state: "detached" });
  });

  it("says what is wrong with a new account, and makes it", async () => {
    await click("Sign up");
    await at("/register");
    await fill("Email", "nowhere");
    await fill("Password", "correct horse");
    await press("Sign up");
    await see("username can't be blank");
    await see("email is invalid");
    await fill("Name", name);
    await fill("Email", `${name}@example.com`);
    await press("Sign up");
    await at("/");
    await page.getByRole("link", { name }).first().waitFor();
  });

  it("keeps the session where scripts can't read it", async () => {
    expect(await page.evaluate(() => document.cookie)).toBe("");
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({ name: "session", httpOnly: true, sameSite: "Lax" });
    await page.reload();
    await page.getByRole("link", { name }).first().waitFor();
  });

  it("follows an author, and shows their articles in the own feed", async () => {
    await page.goto("/?feed=following");
    await see("Nothing here yet. Follow people whose articles you like.");
    await page.goto("/profile/odile");
    await press("Follow odile");
    await page.getByRole("button", { name: "Unfollow odile" }).waitFor();
    await page.goto("/?feed=following");
    await see("Planks remember the tree");
    await page.getByText("Dough has").waitFor({ state: "detached" });
  });

  it("favourites an article, which then is on the profile", async () => {
    await page.getByRole("button", { name: "Favourite 3", exact: true }).click();
    await page.getByRole("button", { name: "Unfavourite 4", exact: true }).waitFor();
    await page.goto(`/profile/${name}/favorites`);
    await see("Planks remember the tree");
  });

  it("writes an article with a preview in which nothing runs", async () => {
    await click("New article");
    await fill("Title", title);
    await fill("What it is about", "Cloth, mostly");
    await fill("Text, in Markdown", "Two *pieces* <img src=x onerror=alert(1)>");
    await page.getByLabel("Tags").fill("cloth");
    await page.getByLabel("Tags").press("Enter");
    await page.locator(".output em", { hasText: "pieces" }).waitFor();
    expect(await page.locator(".output img").count()).toBe(0);
    await press("Publish");
    await page.getByRole("heading", { name: title }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/article/what-a-seam-holds-${run}`);
    expect(await page.locator(".text em").textContent()).toBe("pieces");
  });

  it("changes it, and comments", async () => {
    await click("Edit");
    await fill("What it is about", "Cloth, and nothing else");
    await press("Publish");
    await see("Cloth, and nothing else");
    await fill("Comment", "Holds <b>well</b>");
    const other = await browser.newPage();
    await other.goto(page.url());
    await other.getByText("0 comments").waitFor();
    await press("Post comment");
    await see("Holds <b>well</b>");
    await see("1 comment");
    // Without a reload, also for visitors who haven't signed in.
    await other.getByText("1 comment").waitFor();
    await press("Delete comment");
    await see("0 comments");
    await other.getByText("0 comments").waitFor();
    await other.close();
  });

  it("changes the profile and its picture", async () => {
    await click("Settings");
    const file = { name: "me.png", mimeType: "image/png", buffer: Buffer.from(dot, "base64") };
    await page.getByLabel("Change picture").setInputFiles(file);
    const image = page.locator(".picture img");
    await image.waitFor();
    await expect
      .poll(() => image.evaluate((element: HTMLImageElement) => element.naturalWidth))
      .toBe(1);
    const { profile } = await (await fetch(`${url}/api/profiles/${name}`)).json();
    const picture = await fetch(profile.image);
    expect([picture.status, picture.headers.get("content-type")]).toEqual([200, "image/png"]);
    const text = { name: "me.png", mimeType: "image/png", buffer: Buffer.from("<script>") };
    await page.getByLabel("Change picture").setInputFiles(text);
    await see("image must be a PNG, JPEG, GIF or WebP file");
    await fill("About you", "Mends things");
    await press("Save");
    await at(`/profile/${name}`);
    await see("Mends things");
    await see(title);
  });

  it("deletes the article, signs out, and in again", async () => {
    await page.getByRole("heading", { name: title }).click();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await at("/");
    await page.goto(`/article/what-a-seam-holds-${run}`);
    await see("There is no such article");
    await page.goto("/settings");
    await press("Sign out");
    await at("/");
    expect(await page.context().cookies()).toEqual([]);
    await click("Sign in");
    await fill("Email", `${name}@example.com`);
    await fill("Password", "wrong");
    await press("Sign in");
    await see("Wrong email or password");
    await fill("Password", "correct horse");
    await press("Sign in");
    await at("/");
    await page.getByRole("link", { name }).first().waitFor();
  });

  it("fits a phone", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    const paths = ["/", "/article/delete-the-retry", "/profile/yun", "/settings", "/editor"];
    for (const path of paths) {
      await page.goto(path);
      await page.locator("main :is(h1, .preview, form)").first().waitFor();
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      expect([path, width]).toEqual([path, 390]);
    }
  });

  it("sends visitors who haven't signed in to do so", async () => {
    await page.context().clearCookies();
    await page.goto("/article/delete-the-retry");
    await page.getByRole("button", { name: "Favourite 1", exact: true }).click();
    await at("/login");
    expect(faults).toEqual([]);
  });
});
