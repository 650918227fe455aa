import { useEffect } from 'react'
import { useSession } from '../api/session.ts'
import { whenIdle } from '../ui/when-idle.ts'

/** Keeps the cart alike on all devices of a member. Nothing waits for it, so it is loaded when there is time. */
export function useCartSync(): void {
  const { user, organizationId } = useSession()
  const owner = user && organizationId ? `${user.id} ${organizationId}` : null
  useEffect(() => {
    if (owner === null) return
    let isStopped = false
    let stop: (() => void) | null = null
    const cancel = whenIdle(() => {
      import('../state/cart-sync.ts')
        .then(({ syncCart }) => {
          if (!isStopped) stop = syncCart(owner)
        })
        .catch(() => undefined) // Without it, the cart is kept in this browser.
    })
    return () => {
      isStopped = true
      cancel()
      stop?.()
    }
  }, [owner])
}
