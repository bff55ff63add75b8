import { en } from '../en.ts'
import { Dialog } from './dialog.tsx'

const keys: readonly (readonly [keyof typeof en.shortcuts, readonly string[]])[] = [
  ['down', ['j', '↓']],
  ['up', ['k', '↑']],
  ['open', ['Enter']],
  ['back', ['u']],
  ['approve', ['a']],
  ['reject', ['r']],
  ['edit', ['e']],
  ['comment', ['c']],
  ['leave', ['Esc']],
  ['inbox', ['g', 'i / r']],
  ['help', ['?']],
]

export function Shortcuts({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title={en.keyboard} onClose={onClose}>
      <dl class="keys">
        {keys.map(([name, combination]) => (
          <div key={name}>
            <dt>{en.shortcuts[name]}</dt>
            <dd>
              {combination.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
