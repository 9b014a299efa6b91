// Links of pages behind a real nginx, which says who a caller is.

import { afterAll, describe, expect, it } from "vitest";

import { createCertificates } from "../_certificates.ts";
import { openOf, openPage, openPageServices, refusalOf } from "../_page-links.ts";
import { balancerBefore, balancers, type Passing } from "./_balancers.ts";

const certificate = createCertificates(afterAll).sign("front");
const services = await openPageServices({ web: { forwarded: true, hosts: ["shop.example"] } });
afterAll(async () => await services.close());

/** The user to whom the service attributes a page's streams, with `headers` on its link and `added` on its stream. */
async function seen(
  port: number,
  headers: Readonly<Record<string, string>>,
  added: Readonly<Record<string, string>> = {},
): Promise<string> {
  const page = await openPage(port, { host: "shop.example", headers });
  page.send(openOf(1, "shop/who", {}, { headers: added }));
  const [head, text] = await page.stream(1);
  return `${head.status} ${text}`;
}

describe.skipIf(balancers.nginx.version === "")("behind nginx", () => {
  const before = async (passing: Passing): Promise<number> => {
    const url = `http://127.0.0.1:${services.ports.proxy}`;
    const front = await balancerBefore(url, balancers.nginx, certificate, passing);
    return Number(new URL(front).port);
  };
  // It signs callers in by a cookie, strips what they say themselves, and adds what it has seen.
  const fields = {
    "X-Authenticated-User": "$cookie_user",
    "X-Forwarded-For": "$proxy_add_x_forwarded_for",
    "X-Forwarded-Host": "$host",
    "X-Forwarded-Proto": "$scheme",
  };

  it("each stream has what the proxy in front has set on the link, and no page can add or change it", async () => {
    const port = await before({ fields });
    expect(await seen(port, { cookie: "user=ann", "x-authenticated-user": "root" })).toContain(
      '"x-authenticated-user":"ann"',
    );
    const nobody = await seen(port, { "x-authenticated-user": "root" });
    expect(nobody).toMatch(/^200 /);
    expect(nobody).not.toContain("x-authenticated-user");
    expect(await seen(port, {}, { "x-authenticated-user": "root" })).toMatch(/^400 /);
    expect(await seen(port, {}, { "x-forwarded-for": "203.0.113.7" })).toMatch(/^400 /);
  });

  it("with its default Host the origin isn't the service's: pages get no link, and the log says what to set", async () => {
    const port = await before({ changesHost: true });
    expect(await refusalOf(port, { host: "shop.example" })).toBe(421);
    const own = await openPageServices({ web: { hosts: ["*"] } });
    const front = await balancerBefore(
      `http://127.0.0.1:${own.ports.proxy}`,
      balancers.nginx,
      certificate,
      { changesHost: true },
    );
    expect(await refusalOf(Number(new URL(front).port), { host: "shop.example" })).toBe(403);
    expect(own.log.lines.join("\n")).toMatch(
      /refused a page's link.*http:\/\/shop\.example.*'origin'/,
    );
    await own.close();
  });

  it("that passes no upgrades on, a page gets no link", async () => {
    const port = await before({ upgrades: "none", fields });
    expect(await refusalOf(port, { host: "shop.example" })).not.toBe(101);
  });
});
