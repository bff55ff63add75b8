import type { Client, Notice, PluginHost } from '@pawl/core'
import { isBuiltIn } from '@pawl/core/internal'
import type { NoticeDelivery } from './channel.ts'
import { noticeDeliveryId, noticeTag, placeTag } from './names.ts'
import type { NoticeProcedure } from './notices.ts'
import { findPlace } from './places.ts'

interface NoticesOptions {
  readonly client: Client
  readonly host: PluginHost
  /** Name of the channel. */
  readonly channel: string
  readonly of: NoticeDelivery
  readonly procedure: NoticeProcedure
}

/** No notice has it: its delivery tells nothing, and says where in the feed the channel has begun. */
export const firstId = '0'

/**
 * Follows the feed for one channel and starts the delivery of each notice it takes. A new channel begins with what is told from
 * then on; one that was away continues where it was.
 */
export function followNotices(options: NoticesOptions): void {
  const { client, host, channel, procedure } = options
  const findStart = async (): Promise<number> => {
    const place = await findPlace(client, procedure.name)
    if (place === undefined) await startDelivery(options, firstId, host.from)
    return place ?? host.from
  }
  host.follow(
    `the notices for channel ${channel}`,
    async (event) => {
      if (event.event !== 'notice') return
      const [notice] = (await client.inbox.notices({ id: event.notice })).items
      if (notice !== undefined && isTaken(options, notice))
        await startDelivery(options, event.notice, event.n)
    },
    { after: findStart, onReset: 'oldest' },
  )
}

/** One delivery for each notice: what is started twice exists once. */
async function startDelivery(
  { client, host, channel, procedure }: NoticesOptions,
  id: string,
  place: number,
): Promise<void> {
  if (host.signal.aborted) return
  await client.runOrGet(procedure, undefined, {
    id: noticeDeliveryId(id, channel),
    tags: [noticeTag(id), placeTag(place)],
  })
}

/** A notice about which `wants` throws is not delivered: a retry would hold back all later ones. */
function isTaken({ channel, of, host }: NoticesOptions, notice: Notice): boolean {
  if (isBuiltIn(notice.procedure)) return false
  try {
    return of.wants?.(notice) ?? true
  } catch (error) {
    host.logger.error(`Channel ${channel} does not deliver notice ${notice.id}: \`wants\` threw.`, { error })
    return false
  }
}
