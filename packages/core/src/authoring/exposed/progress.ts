/** How far a run is. */
export interface Progress {
  /** What is done. Range: 0 or more. */
  readonly done: number
  /** What `done` is out of. Default: unknown. Range: 0 or more. */
  readonly total?: number
  /** What the run is doing. Default: none. Range: 1 to 1,000 characters. */
  readonly message?: string
}
