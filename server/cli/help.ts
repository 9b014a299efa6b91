// What `--help` prints after the options.

export const examples = `
Examples:
  seamline init my-app --install           a new application, ready to run
  seamline dev                             work on the application
  seamline build                           build ./src into ./dist
  seamline start --config standalone.json  the whole application in one process
  seamline start --config node.json        one service of several
  seamline call orders/quote --arg sku=42  one call, as any program would make it
  seamline inspect                         what runs where, and what browsers receive
  seamline check                           everything that is wrong, for CI

Configuration: --config FILE, else the variable SEAMLINE_CONFIG, else ./seamline.json

Exit codes:
  0  done, or stopped as asked
  1  failed: the message says why
  2  the command line is wrong

Variables:
  DEBUG=seamline  show stacks of errors
  NO_COLOR=1      no colours
`;

export const inspectExamples = `
Examples:
  seamline inspect            segments, what browsers receive, warnings
  seamline inspect --json     everything: also parameters, importers and places of procedures
  seamline inspect --running  the members of the running gateway that the configuration names

Exit codes:
  0  done, with or without warnings
  1  the application can't be read: the problems are printed
  2  the command line is wrong
`;

export const checkExamples = `
Examples:
  seamline check                    before a commit
  seamline check --max-warnings 0   in CI, where a warning is a failure
  seamline check --build --json     everything that can be found, for a program

Exit codes:
  0  no problem, and not more warnings than --max-warnings allows
  1  there are problems, or more warnings
  2  the command line is wrong
`;
