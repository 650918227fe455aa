/** Code that could not be loaded: the service does not respond, or it has another version of the console by now. */
import { useEffect, useState, type ReactElement } from 'react'
import { reloadOnce, serviceState } from '../api/deployment.ts'
import { Button } from './button.tsx'
import { Empty } from './empty.tsx'

export class LoadError extends Error {
  override readonly name = 'LoadError'
}

/** Browsers name the failure differently, and the router would reload into the browser's own error page. */
export const withLoadError =
  <T,>(load: () => Promise<T>): (() => Promise<T>) =>
  async () => {
    try {
      return await load()
    } catch (cause) {
      throw new LoadError('A part of the console could not be loaded', { cause })
    }
  }

/** Browsers keep a failed import, so only a new page helps. It is loaded once the service responds: never the browser's error page. */
export function LoadFailed(): ReactElement {
  const [reason, setReason] = useState<'unreachable' | 'failed' | null>(null)
  const [isChecking, setChecking] = useState(false)
  const check = async (onReachable: () => void) => {
    setChecking(true)
    const service = await serviceState()
    if (service === 'unreachable') setReason('unreachable')
    else if (service === 'same version' || !reloadOnce()) onReachable()
    else return // Busy until the new page is there.
    setChecking(false)
  }
  useEffect(() => void check(() => setReason('failed')), [])
  if (!reason) return <div aria-busy="true" aria-label="Loading" role="status" />
  return (
    <div role="alert">
      <Empty
        icon="warn"
        tone="bad"
        title={reason === 'unreachable' ? 'Could not reach the service.' : 'This page could not be loaded.'}
        actions={
          <Button variant="primary" size="s" busy={isChecking} onClick={() => void check(() => location.reload())}>
            Try again
          </Button>
        }
      >
        {reason === 'unreachable' ? 'Check your connection, then try again.' : 'The console may have been updated since you opened it.'}
      </Empty>
    </div>
  )
}
