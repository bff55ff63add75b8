declare const refused: unique symbol

/** Never constructed. When the compiler refuses something, its `why` is the sentence you read. */
export interface Refused<Why extends string> {
  readonly [refused]: Why
}
