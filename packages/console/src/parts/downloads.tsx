import type { ReactElement } from 'react'
import { call } from '../api/client.ts'
import { headline } from '../api/problem.ts'
import type { Asset } from '../api/contract.ts'
import { bytes } from '../ui/format.ts'
import { Button } from '../ui/kit.ts'
import { Menu, MenuItem } from '../ui/menu.tsx'
import { toast } from '../ui/toasts.tsx'

/** The bytes come from the store itself, by an address that is good for some minutes. */
export function Downloads({ itemId, assets }: { itemId: string; assets: readonly Asset[] }): ReactElement | null {
  const fetchable = assets.filter(({ state }) => state === 'ready')
  if (fetchable.length === 0) return null
  const get = async (asset: Asset) => {
    try {
      const { url } = await call('items.asset.download', { item_id: itemId, asset_id: asset.id })
      location.assign(url)
    } catch (error) {
      toast(`${headline(error)} ${error instanceof Error ? error.message : ''}`, 'bad')
    }
  }
  return (
    <Menu
      label="Files to download"
      button={(trigger) => (
        <Button {...trigger} size="s" icon="down">
          Download
        </Button>
      )}
    >
      {fetchable.map((asset) => (
        <MenuItem key={asset.id} onClick={() => void get(asset)}>
          {asset.title ?? asset.key}
          {asset.file_size_bytes !== null && ` (${bytes(asset.file_size_bytes)})`}
        </MenuItem>
      ))}
    </Menu>
  )
}
