import type { Refused } from '../base/refused.ts'
import type { Schema } from '../schemas/schema.ts'

/** The key of the phantom property of a procedure. */
export declare const types: unique symbol

/** A procedure, or just its name and types (see {@link ref}). */
// biome-ignore lint/complexity/noBannedTypes: an empty object type is allowed
export interface ProcedureRef<Input, Output, T = {}> {
  readonly name: string
  /** Phantom property for the types; never present at run time. */
  readonly [types]?: { readonly input: (input: Input) => void; readonly output: Output; readonly talk: T }
}

/** The types of what can be said to a run and read from it: `{ signals?, updates?, state? }`. */
// biome-ignore lint/complexity/noBannedTypes: an empty object type is allowed
export type Talk = {}

// biome-ignore-start lint/suspicious/noExplicitAny: a schema of anything
/** The input type for starting a procedure: the input of its `input` schema. */
export type InputOf<S> = S extends { readonly input: Schema<infer In, any> } ? In : undefined

/** The input type of a procedure's body: the output of its `input` schema. */
export type ParsedOf<S> = S extends { readonly input: Schema<any, infer Out> } ? Out : undefined

// Written as conditionals so that a hover shows the result, not these names.
/** The signals, updates and state of a procedure, as types by name. */
export type TalkOf<S> = S extends unknown
  ? {
      [K in Extract<keyof S, 'signals' | 'state' | 'updates'>]: K extends 'updates'
        ? UpdatesOf<S[K]>
        : PayloadsOf<S[K]>
    }
  : never
type PayloadsOf<M> = M extends unknown
  ? { -readonly [K in keyof M]: M[K] extends Schema<any, infer Out> ? Out : never }
  : never
type UpdatesOf<M> = M extends unknown
  ? {
      -readonly [K in keyof M]: M[K] extends {
        readonly input: Schema<any, infer Input>
        readonly output: Schema<any, infer Output>
      }
        ? { input: Input; output: Output }
        : never
    }
  : never
// biome-ignore-end lint/suspicious/noExplicitAny: a schema of anything

type NameIn<T, Part extends string, Why extends string> = T extends { readonly [K in Part]: infer M }
  ? keyof M & string
  : Refused<Why>

/** The names of the signals that a procedure declares. */
export type SignalName<T> = NameIn<
  T,
  'signals',
  'this procedure declares no signals: add signals: { name: schema } to procedure({ … })'
>

/** The payload type of a signal. */
export type PayloadOf<T, K> = T extends { readonly signals: infer M }
  ? K extends keyof M
    ? M[K]
    : never
  : never

/** The names of the values that a procedure exposes. */
export type StateName<T> = NameIn<
  T,
  'state',
  'this procedure declares no state: add state: { name: schema } to procedure({ … })'
>

/** The type of an exposed value. */
export type StateOf<T, K> = T extends { readonly state: infer M } ? (K extends keyof M ? M[K] : never) : never

/** The names of the updates that a procedure declares. */
export type UpdateName<T> = NameIn<
  T,
  'updates',
  'this procedure declares no updates: add updates: { name: { input, output } } to procedure({ … })'
>

type UpdateOf<T, K> = T extends { readonly updates: infer M } ? (K extends keyof M ? M[K] : never) : never

/** The input type of an update. */
export type UpdateIn<T, K> = UpdateOf<T, K> extends { readonly input: infer Input } ? Input : never

/** The type of the reply to an update. */
export type UpdateOut<T, K> = UpdateOf<T, K> extends { readonly output: infer Output } ? Output : never

type IsAny<P> = 0 extends 1 & P ? true : false

// biome-ignore-start lint/suspicious/noConfusingVoidType: the type of z.void()
/**
 * The type of a received payload. A signal without a payload arrives as `true`, so that it differs from the `null` of a
 * timeout; an optional payload too.
 */
export type Received<P> =
  IsAny<P> extends true ? P : undefined extends P ? Exclude<P, undefined | void> | true : P
/** The arguments after the name of a signal. A signal without a payload may omit the payload argument. */
export type SignalArgs<P, Options> =
  IsAny<P> extends true
    ? [payload?: P, options?: Options]
    : [P] extends [undefined | void]
      ? // Not a union, for which the compiler's error messages do not help.
        [optionsOrNothing?: Options | undefined, options?: Options]
      : [payload: P, options?: Options]
// biome-ignore-end lint/suspicious/noConfusingVoidType: the type of z.void()
