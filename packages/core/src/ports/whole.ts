/**
 * `Row`, if `Fields` names each of its fields; else a type without them. For statements whose parameters are listed by hand: a new
 * field of the row is a type error there until the store writes it and names it.
 */
export type Whole<Row, Fields extends keyof Row> = [Exclude<keyof Row, Fields>] extends [never]
  ? Row
  : { readonly unwritten: Exclude<keyof Row, Fields> }
