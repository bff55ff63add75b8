import { Text } from './text.tsx'

/** A link with its host shown: the label may claim another. Other schemes than these are text. */
export function OutsideLink({ label, url }: { readonly label: string; readonly url: string }) {
  const parsed = URL.canParse(url) ? new URL(url) : null
  if (parsed === null || !['http:', 'https:', 'mailto:'].includes(parsed.protocol))
    return (
      <>
        <Text>{label}</Text>{' '}
        <span class="faint">
          <Text>{url}</Text>
        </span>
      </>
    )
  return (
    <>
      <a href={parsed.href} target="_blank" rel="noopener noreferrer">
        <Text>{label}</Text>
      </a>{' '}
      <span class="faint">
        <Text>{parsed.host === '' ? parsed.pathname : parsed.host}</Text>
      </span>
    </>
  )
}
