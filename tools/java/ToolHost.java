// Kafka's command line tools, one after the other in one process: each start would take a second.
// A request is a line of words between tabs: class, input (or nothing), arguments, URL-encoded.
// The answer is a line as well: exit code, output, errors. The host ends when its input does.
//
// Each run gets the tools' classes anew, because some count in static fields; the clients beneath
// them stay loaded. A tool that ends the process past Kafka's own Exit ends the host.

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.kafka.common.utils.Exit;

public class ToolHost {
    private static final List<Runnable> hooks = new ArrayList<>();
    private static ByteArrayOutputStream out;
    private static ByteArrayOutputStream err;
    private static Integer code;

    public static void main(String[] args) throws IOException {
        PrintStream answers = System.out;
        BufferedReader requests =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Exit.setExitProcedure(ToolHost::exit);
        Exit.setHaltProcedure(ToolHost::exit);
        Exit.setShutdownHookAdder((name, hook) -> hooks.add(hook));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            List<String> words = new ArrayList<>();
            for (String word : line.split("\t", -1)) {
                words.add(URLDecoder.decode(word, StandardCharsets.UTF_8));
            }
            run(words.get(0), words.get(1), words.subList(2, words.size()).toArray(new String[0]));
            answers.println(code + "\t" + text(out) + "\t" + text(err));
            answers.flush();
        }
    }

    private static void run(String tool, String input, String[] args) throws IOException {
        hooks.clear();
        code = null;
        out = new ByteArrayOutputStream();
        err = new ByteArrayOutputStream();
        System.setIn(new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)));
        System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
        try (ToolLoader loader = new ToolLoader()) {
            Thread.currentThread().setContextClassLoader(loader);
            loader.loadClass(tool).getMethod("main", String[].class).invoke(null, (Object) args);
            hooks.forEach(Runnable::run);
            exit(0, null);
        } catch (Ended ended) {
            return;
        } catch (InvocationTargetException failure) {
            if (code == null) {
                System.err.print("Exception in thread \"main\" ");
                failure.getCause().printStackTrace();
                code = 1;
            }
        } catch (ReflectiveOperationException failure) {
            throw new IllegalArgumentException(failure);
        }
    }

    // The first exit counts. What a tool says while the exit passes through it would never be seen.
    private static void exit(int asked, String message) {
        if (code == null) {
            code = asked;
            System.out.flush();
            System.setOut(new PrintStream(PrintStream.nullOutputStream()));
            System.setErr(new PrintStream(PrintStream.nullOutputStream()));
        }
        throw new Ended();
    }

    private static String text(ByteArrayOutputStream bytes) {
        return URLEncoder.encode(bytes.toString(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
    }

    private static class Ended extends RuntimeException {
        Ended() {
            super("the tool has ended", null, false, false);
        }
    }

    private static class ToolLoader extends URLClassLoader {
        private static final URL[] TOOLS = tools();

        ToolLoader() {
            super(TOOLS, ClassLoader.getSystemClassLoader());
        }

        private static URL[] tools() {
            return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                    .map(File::new)
                    .filter(jar -> jar.getName().matches("kafka-tools-[0-9].*|kafka_2.*"))
                    .map(ToolLoader::url)
                    .toArray(URL[]::new);
        }

        private static URL url(File jar) {
            try {
                return jar.toURI().toURL();
            } catch (IOException failure) {
                throw new IllegalArgumentException(failure);
            }
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                Class<?> known = findLoadedClass(name);
                if (known != null) {
                    return known;
                }
                try {
                    return findClass(name);
                } catch (ClassNotFoundException elsewhere) {
                    return super.loadClass(name, resolve);
                }
            }
        }
    }
}
