declare const refused: unique symbol

/** Marks a type error. Never constructed: the compiler shows its `why` as the message. */
export interface Refused<Why extends string> {
  readonly [refused]: Why
}

/**
 * Rejects option keys of `Of` that are not in `Known`.
 * If options are inferred (`const S extends Known`), the compiler accepts any other key. With
 * `S & NoOthers<S, Known, 'procedure'>` the editor reports it.
 */
export type NoOthers<S, Known, Of extends string> = {
  readonly [K in Exclude<keyof S, keyof Known>]: Refused<`${Of} has no option '${K & string}'`>
}
