/** Compares dumps of GDAL with our reading: node check.ts DUMPDIR FILE... */
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { openFileSource } from '#raster/source/file.ts';
import { openTiff } from '#raster/tiff/open.ts';
import { differences, type Dump } from '#raster/testing/gdalDump.ts';

const [directory = '.', ...files] = process.argv.slice(2);
let failed = 0;
for (const file of files) {
  const base = join(directory, basename(file));
  const dump = JSON.parse(readFileSync(`${base}.json`, 'utf8')) as Dump;
  try {
    const raster = await openTiff(await openFileSource(file));
    const found = await differences(raster, dump, readFileSync(`${base}.bin`));
    await raster.close();
    if (found.length > 0) failed++;
    console.log(found.length === 0 ? `ok   ${file}` : `DIFF ${file}\n  ${found.join('\n  ')}`);
  } catch (error) {
    failed++;
    console.log(`FAIL ${file}: ${String(error)}`);
  }
}
console.log(`${files.length - failed} of ${files.length} equal to GDAL`);
process.exitCode = failed > 0 ? 1 : 0;
