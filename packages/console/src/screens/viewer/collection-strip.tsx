/** Other items of the collection: to open, to compare, to add as a layer below. */
import { Link } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import type { Item } from '../../api/contract.ts'
import { Filmstrip, FilmstripImage } from '../../parts/filmstrip.tsx'
import { tileOf } from '../../ui/auth-image.tsx'
import { date } from '../../ui/format.ts'
import { Button } from '../../ui/kit.ts'
import { classes } from '../../ui/classes.ts'
import filmstripStyles from '../../parts/filmstrip.module.css'
import workspaceStyles from '../../parts/workspace.module.css'
import ui from '../../ui/ui.module.css'

const MAX_FRAMES = 8
const MAX_OFFERED = 4

interface CollectionStripParts {
  item: Item
  siblings: readonly Item[]
  below: readonly string[]
  onBelow(ids: readonly string[]): void
}

const shortName = ({ datetime, name }: Item) => (datetime ? date(datetime) : name.slice(0, 16))

export function CollectionStrip({ item, siblings, below, onBelow }: CollectionStripParts): ReactElement | null {
  if (siblings.length === 0) return null
  const offered = siblings.slice(0, MAX_OFFERED).filter(({ id }) => !below.includes(id))
  return (
    <div className={workspaceStyles.section}>
      <h3>
        <span className={ui.grow}>In this collection</span>
        <Link to="/compare" search={{ a: item.id, b: siblings[0]!.id }}>
          Compare
        </Link>
      </h3>
      <Filmstrip>
        {siblings.slice(0, MAX_FRAMES).map((sibling) => (
          <Link
            key={sibling.id}
            to="/view/$item"
            params={{ item: sibling.id }}
            className={filmstripStyles.frame}
            aria-label={`${shortName(sibling)}, ${sibling.name}`}
          >
            <FilmstripImage path={tileOf(`/api/v1/items/${encodeURIComponent(sibling.id)}`, sibling.bbox)} caption={shortName(sibling)} />
          </Link>
        ))}
      </Filmstrip>
      <div className={classes(ui.flexRow, ui.gap6, ui.wrap, ui.marginTop8)}>
        {offered.map((sibling) => (
          <Button key={sibling.id} size="s" icon="plus" onClick={() => onBelow([...below, sibling.id])}>
            Add {shortName(sibling)} as layer
          </Button>
        ))}
      </div>
    </div>
  )
}
