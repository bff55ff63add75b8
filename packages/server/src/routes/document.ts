import { z } from 'zod'
import { everyone } from '../auth/roles.ts'
import { openApiDocument } from './openapi.ts'
import { type Route, route } from './route.ts'

/** The route of the document about all routes, itself included. The document is made once, when it is first asked for. */
export function documentRoute(routes: () => readonly Route[]): Route {
  let document: object | undefined
  return route({
    method: 'GET',
    path: '/openapi.json',
    summary: 'Get this document',
    roles: everyone,
    query: z.strictObject({}),
    body: null,
    replies: { 200: z.looseObject({ openapi: z.string() }) },
    handle: async () => {
      document ??= openApiDocument(routes())
      return { status: 200, body: document }
    },
  })
}
