/** Shown instead of the console while an organization requires a second factor that the account does not have. */
import type { ReactElement } from 'react'
import { signOut, useSession } from '../api/session.ts'
import { classes } from '../ui/classes.ts'
import { Logo } from '../ui/icons.tsx'
import { loadLater } from '../ui/load-later.tsx'
import { Note } from '../ui/kit.ts'
import styles from './choose-organization.module.css'
import ui from '../ui/ui.module.css'

const TwoFactorCard = loadLater(async () => (await import('../parts/account/two-factors.tsx')).TwoFactorCard)

export function SetUpTwoFactors({ organization }: { organization: string }): ReactElement {
  const { user } = useSession()
  return (
    <main className={styles.choose}>
      <div className={classes(ui.flexRow, ui.gap12, styles.brand)}>
        <Logo />
        <b>Groundtrack</b>
      </div>
      <h1>Set up two-factor sign-in</h1>
      <Note tone="warn" icon="lock">
        <b>{organization} requires two-factor sign-in.</b> Add an authenticator app or a passkey to continue. Your API keys still work.
      </Note>
      <TwoFactorCard />
      <p className={classes(ui.soft, ui.small, ui.flexRow, ui.gap6)}>
        Signed in as {user?.email}.
        <button type="button" className={ui.asLink} onClick={() => void signOut()}>
          Sign out
        </button>
      </p>
    </main>
  )
}
