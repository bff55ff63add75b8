import { z } from 'zod'
import { everyone, type Route, route } from './route.ts'

export const meRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/me',
    summary: 'Who makes the request',
    roles: everyone,
    query: z.strictObject({}),
    body: null,
    replies: {
      200: z.object({
        actor: z.string(),
        names: z.array(z.string()),
        role: z.enum(['answer', 'watch', 'operate', 'admin']),
        actAs: z.boolean(),
      }),
    },
    async handle({ identity }) {
      const { actor, names, role, actAs = false } = identity
      return { status: 200, body: { actor, names: [...names], role, actAs } }
    },
  }),
]
