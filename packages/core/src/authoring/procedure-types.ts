import type { Refused } from '../base/refused.ts'
import type { Schema } from '../schemas/schema.ts'

/** What may be said to a run and read from it while it lives: `{ signals? }`. */
// biome-ignore lint/complexity/noBannedTypes: an empty talk is a talk
export type Talk = {}

// biome-ignore-start lint/suspicious/noExplicitAny: a schema of anything
export type InputOf<S> = S extends { readonly input: Schema<infer In, any> } ? In : undefined
export type ParsedOf<S> = S extends { readonly input: Schema<any, infer Out> } ? Out : undefined

// Written as conditionals so that a hover shows the result, not these names.
export type TalkOf<S> = S extends unknown ? { [K in Extract<keyof S, 'signals'>]: PayloadsOf<S[K]> } : never
type PayloadsOf<M> = M extends unknown
  ? { -readonly [K in keyof M]: M[K] extends Schema<any, infer Out> ? Out : never }
  : never
// biome-ignore-end lint/suspicious/noExplicitAny: a schema of anything

type NameIn<T, Part extends string, Why extends string> = T extends { readonly [K in Part]: infer M }
  ? keyof M & string
  : Refused<Why>
export type SignalName<T> = NameIn<
  T,
  'signals',
  'this procedure declares no signals: add signals: { name: schema } to procedure({ … })'
>
export type PayloadOf<T, K> = T extends { readonly signals: infer M }
  ? K extends keyof M
    ? M[K]
    : never
  : never

type IsAny<P> = 0 extends 1 & P ? true : false

// biome-ignore-start lint/suspicious/noConfusingVoidType: the type of z.void()
/**
 * A signal without a payload arrives as `true`, so that it never looks like the `null` of a timeout: also where the
 * payload may be left out.
 */
export type Received<P> =
  IsAny<P> extends true ? P : undefined extends P ? Exclude<P, undefined | void> | true : P
/** What stands behind the name of a signal. One that carries nothing may leave out the place of its payload. */
export type SignalArgs<P, Options> =
  IsAny<P> extends true
    ? [payload?: P, options?: Options]
    : [P] extends [undefined | void]
      ? // Not a union: of that the compiler says nothing that helps.
        [optionsOrNothing?: Options | undefined, options?: Options]
      : [payload: P, options?: Options]
// biome-ignore-end lint/suspicious/noConfusingVoidType: the type of z.void()
