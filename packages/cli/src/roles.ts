import type { Role } from '@pawl/server'

/** Listed here so that the help loads no server; a missing role is a type error. */
const known: { readonly [R in Role]: true } = { answer: true, watch: true, operate: true, admin: true }

export const roles: readonly string[] = Object.keys(known)
