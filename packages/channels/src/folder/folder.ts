import type { Ask, Notice } from '@pawl/core'
import type { Channel } from '../channel.ts'
import { writeWhole } from './files.ts'
import { type Queue, QueueFolder, queueOf } from './queue.ts'
import { watchReplies } from './replies.ts'
import { noticeOf, outcomeOf, requestOf } from './request.ts'

/** The options of `folder`. */
export interface FolderOptions {
  /** Name of the channel. Default: 'folder'. */
  readonly name?: string
  /** Whether it takes an ask that names no channels, or a notice; `kind` tells them apart. Default: it takes what goes to a queue. */
  readonly wants?: (about: Ask | Notice) => boolean
}

/**
 * A channel that keeps the asks of each queue in a folder: `<path>/<scope>/<queue>/requests/<ask>.json`. A file of the same name in
 * `replies` answers, such as `{"by": "user:ana", "resolution": {"decision": "approve"}}`. Once the ask is closed, its request is moved
 * to `closed`, with the outcome. A reply that cannot be accepted is moved to `refused`, with the reason. A notice to a queue is a file
 * in `notices`.
 *
 * The file system says who may answer: everyone who can write into `replies` is trusted to name the person. Replies must be written
 * to another name and renamed, so that none is read half-written.
 * @example folder('/var/lib/pawl/queues') // an ask with `to: 'queue:greeting-reviewers/approvals'`
 */
export function folder(path: string, { name = 'folder', wants }: FolderOptions = {}): Channel {
  const takes = (about: Ask | Notice): boolean => queuesOf(about).length > 0 && (wants?.(about) ?? true)
  return {
    name,
    can: { form: 'full', identity: 'verified' },
    wants: takes,
    recipients: (ask) => queuesOf(ask).map((queue) => ({ name: queue })),
    async deliver(ask, { recipient, page }) {
      const queue = queueOf(recipient?.name)
      if (queue === null) return undefined
      const place = new QueueFolder(path, queue)
      await place.make()
      await writeWhole(place.fileOf('requests', ask.id), requestOf(ask, queue, page))
      return { ref: queue.audience }
    },
    async update(ref, ask) {
      const queue = queueOf(ref)
      if (queue === null) return
      const place = new QueueFolder(path, queue)
      await writeWhole(place.fileOf('closed', ask.id), outcomeOf(ask, queue))
      await place.remove('requests', ask.id)
    },
    notices: {
      wants: takes,
      recipients: (notice) => queuesOf(notice).map((queue) => ({ name: queue })),
      async deliver(notice, { recipient, page }) {
        const queue = queueOf(recipient?.name)
        if (queue === null) return
        const place = new QueueFolder(path, queue)
        await place.make()
        await writeWhole(place.fileOf('notices', notice.id), noticeOf(notice, queue, page))
      },
    },
    start: (submit) => watchReplies(path, submit),
  }
}

function queuesOf({ to }: Ask | Notice): readonly Queue['audience'][] {
  return to.flatMap((name) => queueOf(name)?.audience ?? [])
}
