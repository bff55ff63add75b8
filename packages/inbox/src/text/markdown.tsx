import { lexer, type Token, type Tokens } from 'marked'
import type { ComponentChildren, JSX } from 'preact'
import { OutsideLink } from './link.tsx'
import { marked as withMarks } from './text.tsx'
import { LongText } from './value.tsx'

/** Larger texts are shown as they are: a browser would halt on their elements. */
const maxLength = 100_000

/** Markdown as elements of a fixed list. HTML in it is text, images are links, and there is no other way in. */
export function Markdown({ text }: { readonly text: string }) {
  if (text.length > maxLength) return <LongText text={text} />
  return (
    <div class="markdown" dir="auto">
      {all(lexer(text))}
    </div>
  )
}

function all(tokens: readonly Token[] | undefined): ComponentChildren {
  return tokens?.map((token, index) => <Part key={index} token={token} />)
}

/** The content of a token: its parts, else its text. */
function inner(token: {
  readonly tokens?: readonly Token[] | undefined
  readonly text?: string
}): ComponentChildren {
  return token.tokens && token.tokens.length > 0 ? all(token.tokens) : withMarks(token.text ?? '')
}

const headings = ['h3', 'h4', 'h5', 'h6'] as const

function Part({ token: given }: { readonly token: Token }): JSX.Element | null {
  const token = given as Tokens.Generic & { readonly text: string }
  switch (token.type) {
    case 'heading': {
      const Heading = headings[Math.min(3, Number(token['depth']) - 1)] ?? 'h6'
      return <Heading>{inner(token)}</Heading>
    }
    case 'paragraph':
      return <p>{inner(token)}</p>
    case 'text':
    case 'escape':
      return <>{inner(token)}</>
    case 'strong':
      return <strong>{inner(token)}</strong>
    case 'em':
      return <em>{inner(token)}</em>
    case 'del':
      return <s>{inner(token)}</s>
    case 'codespan':
      return <code>{withMarks(token.text)}</code>
    case 'code':
      return <LongText isCode text={token.text} />
    case 'blockquote':
      return <blockquote>{inner(token)}</blockquote>
    case 'list':
      return <List token={given as Tokens.List} />
    case 'table':
      return <Table token={given as Tokens.Table} />
    case 'hr':
      return <hr />
    case 'br':
      return <br />
    case 'link':
    case 'image':
      return <OutsideLink label={token.text} url={String(token['href'])} />
    case 'space':
    case 'def':
      return null
    case 'checkbox':
      return <>{token['checked'] === true ? '☑ ' : '☐ '}</>
    default:
      return <>{withMarks(token.raw)}</>
  }
}

function List({ token }: { readonly token: Tokens.List }) {
  const items = token.items.map((item, index) => <li key={index}>{inner(item)}</li>)
  return token.ordered ? <ol start={Number(token.start) || 1}>{items}</ol> : <ul>{items}</ul>
}

function Table({ token }: { readonly token: Tokens.Table }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a table that scrolls has to be reached by keyboard
    <div class="scroll" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {token.header.map((cell, index) => (
              <th key={index}>{inner(cell)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => (
                <td key={column}>{inner(cell)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
