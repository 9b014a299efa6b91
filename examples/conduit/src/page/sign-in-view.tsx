import { signIn, signUp } from "../accounts/accounts.ts";
import { Field, Form, textOf } from "./form.tsx";
import { Link, navigate } from "./router.tsx";
import { useSession } from "./session.tsx";

export function SignInView() {
  const { setUser } = useSession();
  async function submit(values: FormData) {
    setUser(await signIn(textOf(values, "email"), textOf(values, "password")));
    navigate("/");
  }
  return (
    <section className="narrow">
      <title>Sign in · Conduit</title>
      <h1>Sign in</h1>
      <p className="quiet">
        No account yet? <Link to="/register">Sign up</Link>
      </p>
      <Form button="Sign in" submit={submit}>
        <Field label="Email" name="email" type="email" autoComplete="email" />
        <Field label="Password" name="password" type="password" autoComplete="current-password" />
      </Form>
    </section>
  );
}

export function SignUpView() {
  const { setUser } = useSession();
  async function submit(values: FormData) {
    const [username, email, password] = ["username", "email", "password"].map((name) =>
      textOf(values, name),
    ) as [string, string, string];
    setUser(await signUp({ username, email, password }));
    navigate("/");
  }
  return (
    <section className="narrow">
      <title>Sign up · Conduit</title>
      <h1>Sign up</h1>
      <p className="quiet">
        You have an account? <Link to="/login">Sign in</Link>
      </p>
      <Form button="Sign up" submit={submit}>
        <Field label="Name" name="username" autoComplete="username" />
        <Field label="Email" name="email" type="email" autoComplete="email" />
        <Field label="Password" name="password" type="password" autoComplete="new-password" />
      </Form>
    </section>
  );
}
