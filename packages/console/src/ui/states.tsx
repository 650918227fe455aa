/** The states that every part has: loading, empty, failed, not allowed, offline. One failing part never blanks a screen. */
import { useEffect, useState, type ReactElement, type ReactNode } from 'react'
import { ProblemError, headline } from '../api/problem.ts'
import type { Reading } from '../api/query.ts'
import { Empty } from './empty.tsx'
import { Icon } from './icons.tsx'
import { Button, copyText, Page } from './kit.ts'
import { LoadError, LoadFailed } from './load-error.tsx'
import { classes } from './classes.ts'
import cardStyles from './card.module.css'
import noteStyles from './note.module.css'
import styles from './states.module.css'
import ui from './ui.module.css'

export { Empty } from './empty.tsx'

/** A skeleton that comes at once flickers; after this it helps. */
const SKELETON_AFTER_MS = 150

export function Skeleton({ rows = 4 }: { rows?: number }): ReactElement | null {
  const [late, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), SKELETON_AFTER_MS)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div className={styles.skeleton} role="status" aria-busy="true" aria-label="Loading">
      {late &&
        Array.from({ length: rows }, (_, index) => (
          <div key={index} className={classes(ui.flexRow, ui.gap12)}>
            <i className={classes(styles.bone, styles.thumbnail)} />
            <div className={classes(ui.grow, ui.flexColumn, ui.gap6)}>
              <i className={classes(styles.bone, styles.line)} />
              <i className={classes(styles.bone, styles.line, styles.short)} />
            </div>
          </div>
        ))}
    </div>
  )
}

/** For what is known to be refused: it is not requested. */
export const NoAccess = ({ children }: { children: ReactNode }): ReactElement => (
  <Empty icon="lock" tone="warn" title="You don't have access to this">
    {children} An owner or admin of the organization can change your role.
  </Empty>
)

export function Failed({ error, retry }: { error: unknown; retry?: () => void }): ReactElement {
  if (error instanceof LoadError) return <LoadFailed />
  const known = error instanceof ProblemError ? error : null
  const isForbidden = known !== null && ['forbidden', 'missing-scope'].includes(known.slug)
  if (isForbidden) return <NoAccess>{known.message}.</NoAccess>
  const reference = known
    ? `${known.status || 'no response'} ${known.slug}${known.instance ? `, ${known.instance.replace('urn:uuid:', '')}` : ''}`
    : ''
  return (
    <div role="alert">
      <Empty
        icon="warn"
        tone="bad"
        title={headline(error)}
        actions={
          <>
            {retry && (
              <Button variant="primary" size="s" onClick={retry}>
                Try again
              </Button>
            )}
            {reference && (
              <Button size="s" variant="quiet" icon="copy" onClick={() => void copyText(reference)}>
                <span className={ui.mono}>{reference}</span>
              </Button>
            )}
          </>
        }
      >
        {error instanceof Error ? error.message : ''}
      </Empty>
    </div>
  )
}

interface LoadedParts<T> {
  query: Reading<T>
  rows?: number
  /** Said instead of the content where there is none. */
  empty?: (data: T) => ReactNode | null | false
  children(data: T): ReactNode
}

export function Loaded<T>({ query, rows, empty, children }: LoadedParts<T>): ReactElement {
  if (query.data === undefined) {
    if (query.isError) return <Failed error={query.error} retry={() => void query.refetch()} />
    return <Skeleton rows={rows} />
  }
  const nothing = empty?.(query.data)
  return (
    <>
      {query.isFetching && <div className={styles.refetch} aria-hidden="true" />}
      {query.isError && (
        <p className={classes(styles.stale, ui.warning, ui.small)} role="status">
          <Icon name="wifi" /> Could not refresh: {headline(query.error)}
        </p>
      )}
      {nothing || children(query.data)}
    </>
  )
}

/** The end of a list that has more. */
export function More({
  pages,
  className = classes(ui.flexRow, ui.center, cardStyles.body),
}: {
  pages: Growing
  className?: string
}): ReactElement | null {
  if (!pages.more) return null
  return (
    <div className={className}>
      <Button busy={pages.isGrowing} onClick={pages.more}>
        Load more
      </Button>
    </div>
  )
}

interface Growing {
  more: (() => void) | null
  isGrowing: boolean
}

/** A screen about one thing, until the thing is there: it loads, or says why it cannot. */
export function WaitingPage({ title, query }: { title: string; query: Reading<unknown> }): ReactElement {
  return (
    <Page title={title}>
      <Loaded query={query} rows={5}>
        {() => null}
      </Loaded>
    </Page>
  )
}

/** A problem beside the form that met it. */
export function FormProblem({ error }: { error: unknown }): ReactElement | null {
  if (!error) return null
  const fields = error instanceof ProblemError ? error.errors : []
  return (
    <div className={classes(noteStyles.note, noteStyles.danger)} role="alert">
      <Icon name="warn" />
      <div className={ui.grow}>
        <b>{headline(error)}</b> {fields.length === 0 && error instanceof Error ? error.message : ''}
        {fields.length > 0 && (
          <ul>
            {fields.map(({ field, message }) => (
              <li key={field + message}>
                <b>{field}</b> {message}
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  )
}
