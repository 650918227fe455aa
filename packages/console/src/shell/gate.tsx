/** Lets in who is signed in; everybody else is sent to sign-in and returns to the page they asked for. */
import { useLocation, useNavigate } from '@tanstack/react-router'
import { useEffect, useState, type ReactElement, type ReactNode } from 'react'
import { useMe } from '../api/query.ts'
import { resume, useSession } from '../api/session.ts'
import { Logo } from '../ui/icons.tsx'
import { Button } from '../ui/kit.ts'
import { Empty, Failed } from '../ui/states.tsx'
import { isFirstSeen, useTakeOver } from './first.ts'
import { ChooseOrganization } from './choose-organization.tsx'
import { SetUpTwoFactors } from './set-up-two-factors.tsx'
import chooseOrganizationStyles from './choose-organization.module.css'

export function Gate({ children }: { children: ReactNode }): ReactElement | null {
  const session = useSession()
  const me = useMe(session.state === 'in')
  const isWaiting = session.state === 'unknown' || (session.state === 'in' && me.isPending)
  useTakeOver(session.state !== 'out' && !isWaiting)
  if (session.state === 'out') return <RedirectToSignIn />
  if (session.state === 'unreachable') return <Unreachable />
  if (isWaiting)
    return isFirstSeen() ? null : (
      <div className={chooseOrganizationStyles.splash} aria-busy="true" aria-label="Loading the console">
        <Logo size={48} />
      </div>
    )
  if (!me.data) return <Failed error={me.error} retry={() => void me.refetch()} />
  const organization = me.data.has_two_factors ? undefined : me.data.organizations.find((each) => each.requires_two_factors)
  if (organization) return <SetUpTwoFactors organization={organization.name} />
  if (session.organizationId === null) return <ChooseOrganization />
  return <>{children}</>
}

/** Nobody is signed out because the service did not respond. */
function Unreachable(): ReactElement {
  const [isTrying, setTrying] = useState(false)
  const retry = () => {
    setTrying(true)
    void resume().finally(() => setTrying(false))
  }
  return (
    <main role="alert">
      <Empty
        icon="warn"
        tone="bad"
        title="Could not reach the service."
        actions={
          <Button variant="primary" size="s" busy={isTrying} onClick={retry}>
            Try again
          </Button>
        }
      >
        You&apos;re still signed in. Check your connection.
      </Empty>
    </main>
  )
}

/** Once: while the sign-in page loads this is drawn again, and must not set out again. */
function RedirectToSignIn(): null {
  const { href } = useLocation()
  const navigate = useNavigate()
  useEffect(() => {
    void navigate({ to: '/sign-in', search: { next: href.replace(/^\/app/, '') }, replace: true })
    // oxlint-disable-next-line exhaustive-deps
  }, [])
  return null
}
