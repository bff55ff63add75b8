import type { ComponentChildren } from 'preact'
import { en } from '../en.ts'
import { Icon, type IconName } from './icons.tsx'

export function Empty(props: {
  readonly title: string
  readonly icon?: IconName
  readonly children?: ComponentChildren
}) {
  return (
    <div class="empty">
      {props.icon && <Icon name={props.icon} />}
      <p class="empty-title">{props.title}</p>
      {props.children}
    </div>
  )
}

export function Loading() {
  return <p class="loading">{en.loading}</p>
}
