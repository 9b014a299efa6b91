import type { ChangeEvent } from "react";
import { signOut, updateUser } from "../accounts/accounts.ts";
import { setAvatar } from "../accounts/avatars.ts";
import { Avatar } from "./avatar.tsx";
import { Field, Form, Problem, textOf, useAction } from "./form.tsx";
import { Link, navigate, profilePath } from "./router.tsx";
import { useSession } from "./session.tsx";

export function SettingsView() {
  const { user, setUser } = useSession();
  const picture = useAction();
  if (!user)
    return (
      <p className="quiet">
        <Link to="/login">Sign in</Link> to change your settings.
      </p>
    );
  function upload({ target }: ChangeEvent<HTMLInputElement>) {
    const [file] = target.files ?? [];
    if (file !== undefined) void picture.run(async () => setUser(await setAvatar(file)));
  }
  async function save(values: FormData) {
    const password = textOf(values, "password");
    const changed = await updateUser({
      username: textOf(values, "username"),
      email: textOf(values, "email"),
      bio: textOf(values, "bio"),
      ...(password === "" ? {} : { password }),
    });
    setUser(changed);
    navigate(profilePath(changed.username));
  }
  async function leave() {
    await signOut();
    setUser(null);
    navigate("/");
  }
  return (
    <section className="narrow">
      <title>Settings · Conduit</title>
      <h1>Your settings</h1>
      <div className="picture">
        <Avatar of={user} large />
        <label className="button">
          {picture.waits ? "Uploading…" : "Change picture"}
          <input
            className="hidden"
            type="file"
            accept="image/png,image/jpeg,image/gif,image/webp"
            onChange={upload}
          />
        </label>
      </div>
      <Problem error={picture.error} />
      <Form button="Save" submit={save}>
        <Field label="Name" name="username" defaultValue={user.username} autoComplete="username" />
        <label>
          <span>About you</span>
          <textarea name="bio" rows={4} defaultValue={user.bio ?? ""} />
        </label>
        <Field
          label="Email"
          name="email"
          type="email"
          defaultValue={user.email}
          autoComplete="email"
        />
        <Field label="New password" name="password" type="password" autoComplete="new-password" />
      </Form>
      <hr />
      <button className="danger" onClick={() => void leave()}>
        Sign out
      </button>
    </section>
  );
}
