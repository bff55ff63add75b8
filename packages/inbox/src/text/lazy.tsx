import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { LongText } from './value.tsx'

interface TextProps {
  readonly text: string
}

/** Shows a text by a component that is loaded when it is first needed; until then, and without it, as it is. */
export function lazyText<P extends TextProps>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let loaded: ComponentType<P> | undefined
  return function LazyText(props: P) {
    const [Component, setComponent] = useState<ComponentType<P> | undefined>(() => loaded)
    useEffect(() => {
      if (loaded !== undefined) return
      load().then(
        (component) => {
          loaded = component
          setComponent(() => component)
        },
        () => {},
      )
    }, [])
    return Component === undefined ? <LongText text={props.text} /> : <Component {...props} />
  }
}
