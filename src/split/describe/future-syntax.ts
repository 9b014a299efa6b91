// Decorators and `accessor` fields, which no engine runs yet: a build has to see if any are left.

/**
 * Matches texts that may hold such syntax. It often does so in comments only, but most texts
 * needn't be parsed to know.
 */
export const futureSyntaxHint: RegExp = /@[\w$(]|\baccessor\b/;
