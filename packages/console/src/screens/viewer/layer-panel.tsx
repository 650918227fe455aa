/** The layers of the map in drawing order, the collection of the item, and what can be done with it. */
import type { ReactElement } from 'react'
import type { Asset } from '../../api/contract.ts'
import { useOp } from '../../api/query.ts'
import { Downloads } from '../../parts/downloads.tsx'
import { isSimulated, SimulatedBadge } from '../../parts/simulated-badge.tsx'
import { dateTime, metres, percent } from '../../ui/format.ts'
import { Button, Facts, LinkButton, State } from '../../ui/kit.ts'
import { typeText } from '../../state/item-type.ts'
import { CollectionStrip } from './collection-strip.tsx'
import { LayerStack, type StackParts } from './layer-stack.tsx'
import { classes } from '../../ui/classes.ts'
import workspaceStyles from '../../parts/workspace.module.css'
import ui from '../../ui/ui.module.css'

const MAX_SIBLINGS = 24

interface LayerPanelParts extends Omit<StackParts, 'siblings'> {
  assets: readonly Asset[]
  mayWrite: boolean
  onShare(): void
  onSave(): void
  onUse(): void
}

/** Left of the map. */
export const LayerPanel = (parts: LayerPanelParts): ReactElement => (
  <section className={classes(workspaceStyles.panel, workspaceStyles.left)} aria-label="Layers">
    <div className={workspaceStyles.scroll}>
      <LayerContent {...parts} />
    </div>
  </section>
)

export function LayerContent({ assets, mayWrite, onShare, onSave, onUse, ...stack }: LayerPanelParts): ReactElement {
  const { item, below, onBelow } = stack
  const collection = useOp(
    'items.list_by_collection',
    { collection_id: item.collection_id ?? '', limit: MAX_SIBLINGS },
    { enabled: item.collection_id !== null },
  )
  const siblings = (collection.data?.items ?? []).filter(({ id }) => id !== item.id)
  return (
    <>
      <LayerStack {...stack} siblings={siblings} />
      <CollectionStrip item={item} siblings={siblings} below={below} onBelow={onBelow} />
      <div className={workspaceStyles.section}>
        <h3>Item</h3>
        <Facts
          rows={[
            ['Acquired', dateTime(item.datetime)],
            ['Resolution', metres(item.gsd)],
            ['Cloud cover', percent(item.cloud_cover)],
            ['Type', typeText(item.type)],
            ...(isSimulated(item.properties) ? [['Imagery', <SimulatedBadge key="simulated" />] as const] : []),
            ['Status', <State key="state" of={item.lifecycle_state} />],
          ]}
        />
        <ItemActions {...{ item, assets, mayWrite, onShare, onSave, onUse }} />
      </div>
    </>
  )
}

type ActionParts = Pick<LayerPanelParts, 'item' | 'assets' | 'mayWrite' | 'onShare' | 'onSave' | 'onUse'>

const ItemActions = ({ item, assets, mayWrite, onShare, onSave, onUse }: ActionParts): ReactElement => (
  <div className={classes(ui.flexRow, ui.gap6, ui.wrap, ui.marginTop12)}>
    {mayWrite && (
      <Button size="s" icon="share" onClick={onShare}>
        Share
      </Button>
    )}
    {mayWrite && (
      <Button size="s" icon="layers" onClick={onSave}>
        Save as map
      </Button>
    )}
    <Downloads itemId={item.id} assets={assets} />
    <Button size="s" icon="code" onClick={onUse}>
      Use in…
    </Button>
    <LinkButton size="s" icon="flow" to="/lineage/$type/$id" params={{ type: 'item', id: item.id }}>
      Lineage
    </LinkButton>
    <LinkButton size="s" icon="down" to="/reports" search={{ about: 'item', project: item.project_id, item: item.id }}>
      Report
    </LinkButton>
    <LinkButton size="s" icon="swipe" to="/compare" search={{ a: item.id }}>
      Compare
    </LinkButton>
  </div>
)
