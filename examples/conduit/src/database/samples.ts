interface Sample {
  readonly author: string;
  readonly slug: string;
  readonly title: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly body: string;
  readonly likes: readonly string[];
}

export const authors = [
  { username: "mira", bio: "Mends bicycles, writes about what breaks." },
  { username: "tobias", bio: "Baker. Up at three, in bed at eight." },
  { username: "yun", bio: "Programmer who would rather be in the garden." },
  { username: "odile", bio: "Builds small boats, slowly." },
];

const shared = `

> Write it down while it still hurts. A week later you only remember that it worked.

If you have done this differently, tell me below.`;

const sample = (
  author: string,
  title: string,
  description: string,
  tags: readonly string[],
  body: string,
  likes: readonly string[] = [],
): Sample => ({
  author,
  slug: title.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-"),
  title,
  description,
  tags,
  body: body + shared,
  likes,
});

/** The newest first. */
export const articles: readonly Sample[] = [
  sample(
    "yun",
    "Moving a function without touching it",
    "What changed when our price list left the web server: one line of JSON.",
    ["programming", "architecture"],
    `Our shop ran in one process for two years. Then the price list began to eat the processor each morning, and everything beside it slowed down.

## The move

We didn't rewrite anything. The function that prices a basket is still where it was, and is still called like this:

\`\`\`ts
import { price } from "./prices.ts";

const total = await price(basket);
\`\`\`

Only the file that says *where* it runs has changed.

| before | after |
| --- | --- |
| one process | two processes |
| 900 ms at nine o'clock | 60 ms at any time |

## What I would do again

1. Measure first.
2. Move one thing.
3. Measure again.`,
    ["mira", "tobias", "odile"],
  ),
  sample(
    "tobias",
    "Dough has a clock of its own",
    "Why the recipe's times are wrong in your kitchen, and what to watch instead.",
    ["baking", "craft"],
    `Recipes give hours. Dough doesn't read them. In my bakery the same flour takes four hours in August and nine in January.

## Watch these instead

- **Volume.** Mark the bowl with a strip of tape.
- **Surface.** It turns from matt to silk.
- **The finger.** Press; if the dent comes back slowly, bake.`,
    ["yun", "mira"],
  ),
  sample(
    "mira",
    "The creak is never where you hear it",
    "An hour with a stethoscope and a bottom bracket.",
    ["repair", "bicycles"],
    `A frame is a bell. It carries each sound to the place where your ear is, which is why everybody blames the bottom bracket.

Loosen, clean, grease and tighten **one** thing at a time, and ride around the block after each. Mine was the seat post.`,
    ["odile"],
  ),
  sample(
    "odile",
    "Planks remember the tree",
    "Reading the grain before the first cut saves a boat.",
    ["boats", "craft", "wood"],
    `A plank bends easily the way the tree once leaned, and breaks the other way. Look at the end of the board: the rings are a map.`,
    ["tobias", "mira", "yun"],
  ),
  sample(
    "yun",
    "Delete the retry",
    "Three layers tried again three times each. One slow database got twenty-seven questions.",
    ["programming", "reliability"],
    `Each layer looked reasonable alone. Together they were a siege. Now only the outermost one tries again, and only for calls that do no harm twice.`,
    ["odile"],
  ),
  sample(
    "tobias",
    "Salt last",
    "A small change of order that makes kneading half as long.",
    ["baking"],
    `Salt tightens gluten. If it comes last, flour and water have had their half hour to find each other, and your arms can rest.`,
  ),
  sample(
    "mira",
    "A truing stand from a broken fork",
    "You need a vice, two zip ties and patience.",
    ["repair", "bicycles", "tools"],
    `Clamp the fork upside down in a vice. A zip tie on each blade, cut to touch the rim, shows a tenth of a millimetre. That is better than the stand I sold.`,
    ["yun", "odile"],
  ),
  sample(
    "odile",
    "Sharp is a direction",
    "How I stopped counting grits and began to look at the edge.",
    ["tools", "craft"],
    `An edge is sharp when it reflects no light. Tilt it under a lamp: a bright line is metal that is still in the way.`,
    ["mira"],
  ),
  sample(
    "yun",
    "Logs are letters to a tired person",
    "Write each line for somebody who was woken up by it.",
    ["programming", "reliability"],
    `The reader has one eye open. Say what is wrong, where, and what to do about it. Leave the poetry for the morning.`,
    ["tobias", "mira"],
  ),
  sample(
    "tobias",
    "What the crust tells",
    "Colour, sound, and the little cracks that sing.",
    ["baking", "craft"],
    `Good bread crackles for five minutes after the oven. If it is silent, the next one stays in for five minutes more.`,
  ),
  sample(
    "odile",
    "Glue is the last resort",
    "Joints that hold when they are wet.",
    ["boats", "wood"],
    `If a joint needs glue to stay together, it will need you again in a year. Cut it so that water makes it tighter.`,
  ),
  sample(
    "mira",
    "Cables stretch, hope doesn't",
    "When to adjust, and when to replace.",
    ["bicycles", "repair"],
    `The first hundred kilometres seat the housing; after that, a cable that needs turning each week is fraying where you can't see it.`,
    ["tobias"],
  ),
];

export const comments = [
  {
    author: "mira",
    article: "moving-a-function-without-touching-it",
    body: "Which line was it? I have a function that I'd like to send on a long journey.",
  },
  {
    author: "tobias",
    article: "moving-a-function-without-touching-it",
    body: "Measure first. You would like baking.",
  },
];
