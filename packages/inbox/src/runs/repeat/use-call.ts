import { useRef, useState } from 'preact/hooks'
import { ApiError } from '../../api/request.ts'
import { en } from '../../en.ts'
import { noteEnded } from '../../session.ts'

export interface Call {
  readonly isBusy: boolean
  /** The error of the server, or of the connection. */
  readonly failure: string | null
  /** Makes one call at a time; a second one meanwhile is ignored. */
  readonly make: (call: () => Promise<void>) => Promise<void>
}

export function useCall(): Call {
  const [isBusy, setBusy] = useState(false)
  const [failure, setFailure] = useState<string | null>(null)
  const isUnderWay = useRef(false)
  const make = async (call: () => Promise<void>) => {
    if (isUnderWay.current) return
    isUnderWay.current = true
    setBusy(true)
    setFailure(null)
    try {
      await call()
    } catch (error) {
      noteEnded(error)
      setFailure(error instanceof ApiError ? error.problem.detail : en.actionNotSent)
    }
    isUnderWay.current = false
    setBusy(false)
  }
  return { isBusy, failure, make }
}
