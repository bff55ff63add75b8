import { signal } from '@preact/signals'

/** The text in `role=status`, for screen readers. */
export const announcement = signal('')

export function announce(text: string): void {
  announcement.value = text
}
