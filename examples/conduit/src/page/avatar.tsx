import { useState } from "react";

/** The picture of a user, or the first letter of the name on a colour of its own. */
export function Avatar({
  of,
  large,
}: {
  of: { username: string; image: string | null };
  large?: boolean;
}) {
  const [broken, setBroken] = useState<string>();
  const className = large ? "avatar large" : "avatar";
  if (of.image !== null && of.image !== broken)
    return <img className={className} src={of.image} alt="" onError={() => setBroken(of.image!)} />;
  const hue = Array.from(of.username).reduce(
    (sum, letter) => (sum * 31 + letter.codePointAt(0)!) % 360,
    7,
  );
  return (
    <span className={className} style={{ background: `oklch(0.52 0.11 ${hue})` }} aria-hidden>
      {of.username.slice(0, 1).toUpperCase()}
    </span>
  );
}
