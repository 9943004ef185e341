import io.delta.storage.CloseableIterator;
import io.delta.storage.S3SingleDriverLogStore;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Delta's commits on S3, safe with several writers: a commit's file is put under the condition that there is none, in
 * one request, and the store is the judge. Delta's own store for S3 looks first and then writes, so that of two
 * processes that look at the same time the second overwrites the first one's commit.
 *
 * It also refuses a commit that is not the next one behind what its writer knows (expect). A writer that stands still
 * just before Delta looks at the table would otherwise, once it wakes, put what it has made of an older table behind
 * the commits of those who took over.
 *
 * It is compiled by Spark's own compiler when a session starts, which knows Java 5: no lambdas, no diamonds.
 */
public class ConditionalLogStore extends S3SingleDriverLogStore {

    private static final Pattern COMMIT = Pattern.compile("\\d{20}\\.json");

    /** The numbers of the commits that tables may get next, by the place of the log; others are not looked at. */
    private static final ConcurrentHashMap NEXT = new ConcurrentHashMap();

    public ConditionalLogStore(Configuration settings) {
        super(settings);
    }

    /** The next commit of this table is this one, and each that is made here is followed by the next number. */
    public static void expect(String table, long number) {
        NEXT.put(placeOf(new Path(table, "_delta_log")), Long.valueOf(number));
    }

    /** Any commit of this table may be made again. */
    public static void forget(String table) {
        NEXT.remove(placeOf(new Path(table, "_delta_log")));
    }

    private static String placeOf(Path path) {
        return path.toUri().getAuthority() + path.toUri().getPath();
    }

    public void write(Path path, Iterator actions, Boolean overwrite, Configuration settings) throws IOException {
        String log = placeOf(path.getParent());
        Long next = (Long) NEXT.get(log);
        if (!COMMIT.matcher(path.getName()).matches()) {
            next = null;
        }
        if (next != null && Long.parseLong(path.getName().substring(0, 20)) != next.longValue()) {
            throw new FileAlreadyExistsException(path + ": its writer knows of no commit behind " + next);
        }
        StringBuilder lines = new StringBuilder();
        while (actions.hasNext()) {
            lines.append((String) actions.next()).append('\n');
        }
        FileSystem files = path.getFileSystem(settings);
        FSDataOutputStreamBuilder builder = files.createFile(path);
        builder.overwrite(true);
        builder.recursive();
        if (!overwrite.booleanValue()) {
            builder.must("fs.option.create.conditional.overwrite", true);
        }
        FSDataOutputStream stream = (FSDataOutputStream) builder.build();
        try {
            stream.write(lines.toString().getBytes(StandardCharsets.UTF_8));
            stream.close();
        } catch (IOException refused) {
            if (overwrite.booleanValue() || !files.exists(path)) {
                throw refused;
            }
            // A request whose answer was lost is sent again, and then meets what it has written itself.
            if (!lines.toString().equals(textOf(path, settings))) {
                FileAlreadyExistsException taken = new FileAlreadyExistsException(path.toString());
                taken.initCause(refused);
                throw taken;
            }
        }
        if (next != null) {
            NEXT.replace(log, next, Long.valueOf(next.longValue() + 1));
        }
    }

    private String textOf(Path path, Configuration settings) throws IOException {
        StringBuilder lines = new StringBuilder();
        CloseableIterator read = read(path, settings);
        try {
            while (read.hasNext()) {
                lines.append((String) read.next()).append('\n');
            }
        } finally {
            read.close();
        }
        return lines.toString();
    }
}
