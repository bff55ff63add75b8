import type { Json } from '@pawl/server/internal'
import { en } from '../en.ts'
import { plainOf, summaryOf } from '../text/plain.ts'
import { Text } from '../text/text.tsx'
import { Icon } from '../ui/icons.tsx'

const longestText = 200

/** A value before and after an edit, in one line. */
export function Change({ before, after }: { readonly before: Json; readonly after: Json }) {
  return (
    <>
      <del>
        <span class="hidden">{en.before} </span>
        <Text>{shortOf(before)}</Text>
      </del>
      <Icon name="arrow" />
      <ins>
        <span class="hidden">{en.after} </span>
        <Text>{shortOf(after)}</Text>
      </ins>
    </>
  )
}

function shortOf(value: Json): string {
  const text = summaryOf(plainOf(value))
  return text.length > longestText ? `${text.slice(0, longestText)}…` : text
}
