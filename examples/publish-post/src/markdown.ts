/** As much of Markdown as the drafts use: headings, paragraphs, lists, images and links. */
export function renderMarkdown(markdown: string): string {
  return markdown
    .trim()
    .split(/\n{2,}/)
    .map(renderBlock)
    .join('\n')
}

function renderBlock(block: string): string {
  const heading = /^(#{1,6}) (.+)$/.exec(block)
  if (heading?.[1] !== undefined && heading[2] !== undefined) {
    const level = heading[1].length
    return `<h${level} id="${anchorOf(heading[2])}">${renderText(heading[2])}</h${level}>`
  }
  const lines = block.split('\n')
  if (!lines.every((line) => line.startsWith('- '))) return `<p>${renderText(lines.join(' '))}</p>`
  return `<ul>\n${lines.map((line) => `<li>${renderText(line.slice(2))}</li>`).join('\n')}\n</ul>`
}

function renderText(text: string): string {
  return escapeHtml(text)
    .replace(/!\[([^\]]*)\]\(([^)]*)\)/g, '<img src="$2" alt="$1">')
    .replace(/\[([^\]]*)\]\(([^)]*)\)/g, '<a href="$2">$1</a>')
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

function anchorOf(heading: string): string {
  return heading.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-')
}
