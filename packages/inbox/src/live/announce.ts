import { signal } from '@preact/signals'

/** What the page tells screen readers, in `role=status`. */
export const announcement = signal('')

export function announce(text: string): void {
  announcement.value = text
}
