/** Converts rasters to COGs: node convert.ts OUTDIR FILE... */
import { basename, join } from 'node:path';
import { openFileSource } from '#raster/source/file.ts';
import { openTiff } from '#raster/tiff/open.ts';
import { convertToCog } from '#raster/write/convert.ts';
import { openFileSink } from '#raster/write/sink.ts';

const [directory = '.', ...files] = process.argv.slice(2);
for (const file of files) {
  const raster = await openTiff(await openFileSource(file));
  const sink = await openFileSink(join(directory, basename(file)));
  await convertToCog(raster, sink);
  await sink.close();
  await raster.close();
}
