import type { ReactElement } from 'react'
import { useTitle } from '../state/crumbs.ts'
import { LinkButton, Page } from '../ui/kit.ts'
import { Empty } from '../ui/states.tsx'
import ui from '../ui/ui.module.css'

/** A wrong URL inside the frame: the way on is one click. */
export function PageNotFound(): ReactElement {
  useTitle('Page not found')
  return (
    <Page title="Page not found">
      <Empty
        icon="globe"
        title="There is no page with this URL"
        actions={
          <>
            <LinkButton to="/explore" variant="primary">
              Open the map
            </LinkButton>
            <LinkButton to="/library">Open the library</LinkButton>
          </>
        }
      >
        Check the URL, or search for an item or a screen<span className={ui.hideOnPhone}> with Ctrl K</span>.
      </Empty>
    </Page>
  )
}
