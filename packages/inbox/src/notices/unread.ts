import { signal } from '@preact/signals'
import { listNotices } from '../api/calls.ts'
import { noteEnded } from '../session.ts'

/** The number at which the count of unread notices stops. */
const maxCount = 50

/** Number of unread notices to the user, as the navigation shows it; '' for none. */
export const unreadNotices = signal('')

export async function countUnread(): Promise<void> {
  try {
    const { items, cursor } = await listNotices({ mine: true, unread: true, limit: maxCount })
    unreadNotices.value = items.length === 0 ? '' : `${items.length}${cursor === undefined ? '' : '+'}`
  } catch (error) {
    noteEnded(error)
  }
}
