import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { en } from '../en.ts'
import { Icon } from './icons.tsx'

/** A modal dialog. The browser keeps the focus in it, and gives it back afterwards. */
export function Dialog(props: {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  // Before the effects of the content, which may move the focus.
  useLayoutEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} aria-labelledby="dialog-title" onClose={props.onClose}>
      <header>
        <h2 id="dialog-title">{props.title}</h2>
        <button type="button" class="quiet" aria-label={en.close} onClick={() => dialog.current?.close()}>
          <Icon name="cross" />
        </button>
      </header>
      {props.children}
    </dialog>
  )
}
