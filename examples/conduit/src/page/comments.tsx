import { addComment, deleteComment, watchComments } from "../social/comments.ts";
import { Byline } from "./byline.tsx";
import { Form, Problem, textOf } from "./form.tsx";
import { useStream } from "./loaded.ts";
import { Link } from "./router.tsx";
import { useSession } from "./session.tsx";

export function Comments({ slug }: { slug: string }) {
  const { user } = useSession();
  const { value: comments, error } = useStream(() => watchComments(slug), slug);
  if (error !== undefined) return <Problem error={error} />;
  if (comments === undefined) return null;
  async function add(values: FormData, form: HTMLFormElement) {
    await addComment(textOf(values, "comment"), slug);
    form.reset();
  }
  return (
    <section className="comments" aria-label="Comments">
      <h2>{comments.length === 1 ? "1 comment" : `${comments.length} comments`}</h2>
      {user ? (
        <Form button="Post comment" submit={add}>
          <textarea name="comment" rows={3} aria-label="Comment" placeholder="What do you think?" />
        </Form>
      ) : (
        <p className="quiet">
          <Link to="/login">Sign in</Link> or <Link to="/register">sign up</Link> to comment.
        </p>
      )}
      {comments.map(({ id, body, author, createdAt }) => (
        <div key={id} className="comment">
          <p className="plain">{body}</p>
          <div className="row">
            <Byline author={author} date={createdAt} />
            {author.username === user?.username && (
              <button className="quiet" onClick={() => void deleteComment(slug, id)}>
                Delete comment
              </button>
            )}
          </div>
        </div>
      ))}
    </section>
  );
}
