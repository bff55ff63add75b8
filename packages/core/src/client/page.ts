/** A page of a list. */
export interface Page<R> {
  readonly items: readonly R[]
  /** Cursor of the next page; undefined on the last page. */
  readonly cursor: string | undefined
}
