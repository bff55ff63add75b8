// Everything a user may import. What is not listed here may change at any time.
export type { FindPerson } from './handler.ts'
export { type SlackChannel, type SlackOptions, slack } from './slack.ts'
