declare const refused: unique symbol

/** Never constructed. When the compiler refuses something, its `why` is the sentence you read. */
export interface Refused<Why extends string> {
  readonly [refused]: Why
}

/**
 * What the options of `Of` may not have beside the keys of `Known`. Where options are inferred (`const S extends
 * Known`) the compiler lets any other key pass; `S & NoOthers<S, Known, 'procedure'>` has it refused in the editor.
 */
export type NoOthers<S, Known, Of extends string> = {
  readonly [K in Exclude<keyof S, keyof Known>]: Refused<`${Of} has no option '${K & string}'`>
}
