import type { ReactElement } from 'react'
import { ProblemError } from '../../api/problem.ts'
import { LinkButton, Page } from '../../ui/kit.ts'
import { Empty } from '../../ui/states.tsx'

export const isGone = (error: unknown): boolean => error instanceof ProblemError && (error.status === 404 || error.status === 410)

/** A deleted or expired item, or one that somebody else can see: what to do instead. */
export const ItemNotFound = (): ReactElement => (
  <Page title="Item not found">
    <Empty
      icon="image"
      title="This item was deleted, has expired, or you don't have access"
      actions={
        <>
          <LinkButton to="/library" variant="primary">
            Open the library
          </LinkButton>
          <LinkButton to="/explore" search={{ scope: 'mine' }}>
            Search your items
          </LinkButton>
        </>
      }
    >
      If someone sent you this link, ask them which project the item is in, and to add you to it.
    </Empty>
  </Page>
)
