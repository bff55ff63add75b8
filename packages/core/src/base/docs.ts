/** Where the docs are published. Every address in a message of Pawl begins with it. */
const docsUrl = 'https://pawl.dev/docs'

/**
 * Returns the address of a page of the docs.
 * @example docsPage('errors/ask-closed') // 'https://pawl.dev/docs/errors/ask-closed'
 */
export function docsPage(page: string): string {
  return `${docsUrl}/${page}`
}
