/** Ways to a provider from the sign-in form. */
import type { ReactElement } from 'react'
import type { ProblemError } from '../../api/problem.ts'
import { useSsoOffer } from '../../api/query.ts'
import { classes } from '../../ui/classes.ts'
import { Note } from '../../ui/kit.ts'
import buttonStyles from '../../ui/button.module.css'
import ui from '../../ui/ui.module.css'

/** The way back leads to the page that was asked for. */
export function startUrl(url: string, more: { next?: string; email?: string }): string {
  const query = new URLSearchParams(Object.entries(more).filter(([, value]) => value !== '' && value !== '/explore'))
  return query.size === 0 ? url : `${url}${url.includes('?') ? '&' : '?'}${query.toString()}`
}

/** The provider of the whole installation, if the operator has set one. */
export function ContinueWithProvider({ next }: { next: string }): ReactElement | null {
  const { installation } = useSsoOffer().data ?? {}
  if (!installation) return null
  return (
    <a
      className={classes(buttonStyles.button, buttonStyles.large, buttonStyles.wide, ui.marginTop12)}
      href={startUrl(installation.url, { next })}
    >
      Continue with {installation.name}
    </a>
  )
}

/** The password is right, and the organization does not accept it. */
export function RequiredSso({ error }: { error: ProblemError }): ReactElement {
  const url = (error.problem as { sign_in_url?: string }).sign_in_url
  return (
    <Note tone="warn" icon="lock">
      <b>Your organization requires single sign-on.</b> {url && <a href={url}>Continue to its login</a>}
    </Note>
  )
}
