import { useEffect, useRef } from 'preact/hooks'
import { en } from '../en.ts'

const keys: readonly (readonly [keyof typeof en.shortcuts, readonly string[]])[] = [
  ['down', ['j']],
  ['up', ['k']],
  ['open', ['Enter']],
  ['back', ['u']],
  ['approve', ['a']],
  ['reject', ['r']],
  ['edit', ['e']],
  ['comment', ['c']],
  ['inbox', ['g', 'i / r']],
  ['help', ['?']],
]

export function Shortcuts({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} onClose={onClose} aria-labelledby="keys-title">
      <header>
        <h2 id="keys-title">{en.keyboard}</h2>
        <button type="button" class="small" onClick={() => dialog.current?.close()}>
          {en.close}
        </button>
      </header>
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
    </dialog>
  )
}
