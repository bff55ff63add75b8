/** One thing that was found, and what said so. */
export interface Found<T> {
  readonly value: T
  /** @example '--store', 'PAWL_STORE', '/app/pawl.config.ts', 'default' */
  readonly by: string
}
