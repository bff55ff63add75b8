import type { FunctionComponent } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { onWake } from '../live/wake.ts'

/** What is shown in place of a component that could not be loaded. */
export interface Retryable {
  readonly onRetry: () => void
}

/** A component that is loaded when it is first shown; `Meanwhile` is shown until then, and `Failed` if it cannot be loaded. */
export function lazy<P extends object>(
  load: () => Promise<FunctionComponent<P>>,
  Meanwhile: FunctionComponent<P>,
  Failed: FunctionComponent<P & Retryable> = Meanwhile,
): FunctionComponent<P> {
  let loaded: FunctionComponent<P> | undefined
  return function Lazy(props: P) {
    const [Component, setComponent] = useState<FunctionComponent<P> | undefined>(() => loaded)
    const [hasFailed, setFailed] = useState(false)
    const fetch = () => {
      if (loaded !== undefined) return
      setFailed(false)
      load().then(
        (component) => {
          loaded = component
          setComponent(() => component)
        },
        () => setFailed(true),
      )
    }
    useEffect(() => {
      fetch()
      // A failed load is retried when the network comes back.
      return onWake(fetch)
    }, [])
    if (Component !== undefined) return <Component {...props} />
    return hasFailed ? <Failed {...props} onRetry={fetch} /> : <Meanwhile {...props} />
  }
}
