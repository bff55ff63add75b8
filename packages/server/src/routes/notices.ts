import type { Notice } from '@pawl/core'
import { z } from 'zod'
import { everyone } from '../auth/roles.ts'
import { omitUndefined } from '../base/omit-undefined.ts'
import { boundedList } from '../json/lists.ts'
import { noticeShape } from '../json/shapes.ts'
import { showNotice } from '../json/views.ts'
import { cursor, limit } from './query.ts'
import { type Route, route } from './route.ts'

const ids = boundedList(z.string().regex(/^[1-9][0-9]{0,14}$/), { max: 200 })

export const noticeRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/notices',
    summary: 'List the notices that the caller may see in pages, newest first',
    roles: everyone,
    query: z.strictObject({
      run: z.string().optional(),
      unread: z
        .enum(['true', 'false'])
        .optional()
        .meta({ description: 'Only notices that the caller has not read' }),
      mine: z
        .enum(['true', 'false'])
        .optional()
        .meta({ description: 'Only those addressed to the caller or everyone' }),
      limit,
      cursor,
    }),
    body: null,
    replies: { 200: z.object({ items: z.array(noticeShape), cursor: z.string().optional() }) },
    async handle({ client, identity, rights, query }) {
      const { unread, mine, ...rest } = omitUndefined(query)
      const names = mine === 'true' ? rights.own : rights.names
      const page = await client.inbox.notices({
        ...{ ...rest, reader: identity.actor, unread: unread === 'true' },
        ...(names === null ? {} : { visibleTo: names }),
      })
      const items = page.items.filter((notice) => rights.seesNotice(notice)).map(showNotice)
      return { status: 200, body: omitUndefined({ items, cursor: page.cursor }) }
    },
  }),
  route({
    method: 'POST',
    path: '/notices/read',
    summary: 'Mark notices as read by the caller. Hidden ones are left out',
    roles: everyone,
    query: z.strictObject({}),
    body: z.strictObject({ notices: ids }),
    replies: { 200: z.object({ read: z.number().meta({ description: 'How many were unread before' }) }) },
    async handle({ client, identity, rights, body }) {
      const seen: Notice[] = []
      for (const id of new Set(body.notices)) {
        const [notice] = (await client.inbox.notices({ id })).items
        if (notice !== undefined && rights.seesNotice(notice)) seen.push(notice)
      }
      const read = await client.inbox.readNotices(
        seen.map(({ id }) => id),
        { as: identity.actor },
      )
      return { status: 200, body: { read } }
    },
  }),
]
