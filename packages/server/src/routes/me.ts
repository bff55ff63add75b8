import { z } from 'zod'
import { everyone } from '../auth/roles.ts'
import { meShape } from '../json/shapes.ts'
import { type Route, route } from './route.ts'

export const meRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/me',
    summary: 'Who makes the request',
    roles: everyone,
    query: z.strictObject({}),
    body: null,
    replies: {
      200: meShape,
    },
    async handle({ identity }) {
      const { actor, names, role, actAs = false } = identity
      return { status: 200, body: { actor, names: [...names], role, actAs } }
    },
  }),
]
