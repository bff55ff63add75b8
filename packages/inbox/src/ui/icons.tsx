const paths = {
  check: 'M3.5 8.5 6.5 11.5 12.5 4.5',
  inbox: 'M2.5 9h3l1 2h3l1-2h3M2.5 9v3.5h11V9M2.5 9l2-5.5h7l2 5.5',
  runs: 'M2.5 4h7M2.5 8h11M2.5 12h5',
  back: 'M10 3.5 5.5 8l4.5 4.5',
  next: 'M6 3.5 10.5 8 6 12.5',
  up: 'M3.5 10 8 5.5l4.5 4.5',
  down: 'M3.5 6 8 10.5 12.5 6',
  cross: 'M4 4l8 8M12 4l-8 8',
  plus: 'M8 3v10M3 8h10',
  undo: 'M3 6.5h6.5a3.5 3.5 0 0 1 0 7H6M3 6.5 6 3.5M3 6.5l3 3',
  arrow: 'M3 8h10M9 4l4 4-4 4',
  alert: 'M8 2.5 14 13H2L8 2.5ZM8 6.5v3M8 11.2v.1',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  keyboard: 'M2 4.5h12v7H2zM4.5 7h.01M7 7h.01M9.5 7h.01M11.5 7h.01M5 9.5h6',
  approve: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM5.5 8.2l1.8 1.8 3.2-3.7',
  input: 'M9.5 3.5l3 3-6.5 6.5H3v-3l6.5-6.5Z',
  select: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z',
  review: 'M4 2.5h5l3 3v8H4zM6 8h4M6 10.5h4',
  escalate: 'M8 2.5 14 13H2L8 2.5ZM8 6.5v3M8 11.2v.1',
  decide: 'M8 2.5v11M8 5h4.5L14 6.5 12.5 8H8M8 7H4L2.5 8.5 4 10h4',
} as const
export type IconName = keyof typeof paths

/** Decoration only: what it says is also in words. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  )
}
